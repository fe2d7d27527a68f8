int tree_open();

int main()
{
    return tree_open();
}
